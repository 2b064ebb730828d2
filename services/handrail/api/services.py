"""What one api process is made of. Built once by `api.app`, reached through `services_of(request)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handrail.api.accounts.service import Accounts
    from handrail.api.audit.service import Audit
    from handrail.api.edge.metrics import Metrics
    from handrail.api.files.service import FileService
    from handrail.api.files.transfers import Transfers
    from handrail.api.gate.service import Gate
    from handrail.api.lifecycle import Lifecycle
    from handrail.api.processes.client import SandboxClient
    from handrail.api.processes.service import Processes
    from handrail.api.settings import ApiSettings
    from handrail.api.system.health import Health
    from handrail.api.tools.registry import Registry
    from handrail.api.tools.repeats import Repeats
    from handrail.kit.clock import Clock


@dataclass(frozen=True, slots=True)
class Services:
    """The parts by name."""

    settings: ApiSettings
    clock: Clock
    registry: Registry
    gate: Gate
    accounts: Accounts
    audit: Audit
    sandbox: SandboxClient
    processes: Processes
    files: FileService
    repeats: Repeats
    transfers: Transfers
    lifecycle: Lifecycle
    health: Health
    metrics: Metrics
    started: float  # monotonic seconds
