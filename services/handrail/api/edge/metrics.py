"""Request counters for `/metrics`."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge


class Metrics:
    """Counters of one process. Paths that are not routes are counted together, so that labels stay bounded."""

    def __init__(self, routes: Mapping[str, str]) -> None:
        self.registry = CollectorRegistry()
        self._routes = routes
        self._requests = Counter("handrail_http_requests", "Answered requests", ("method", "path", "status"), registry=self.registry)
        self.info = Gauge("handrail_info", "Version of this service", ("version",), registry=self.registry)
        self._cells: dict[tuple[str, str, int], Counter] = {}

    def answered(self, method: str, path: str, status: int) -> None:
        """Count one answer."""
        key = (method, path if path in self._routes else "other", status)
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = self._requests.labels(method if method in _METHODS else "other", key[1], str(status))
        cell.inc()


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"})
