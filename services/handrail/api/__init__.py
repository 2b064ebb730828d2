"""Control plane: HTTP/WS, accounts, the gate, file tools. The only holder of the signing key."""
