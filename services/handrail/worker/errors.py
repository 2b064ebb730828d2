"""What can become of a job."""

from __future__ import annotations

from handrail.contract.errors import HandrailError


class JobCancelled(HandrailError):
    code = "job.cancelled"
    status = 409
    en = "The job was cancelled."
    zh = "任务已取消。"


class LeaseLost(HandrailError):
    """Another worker took the job over: this one must stop without writing anything."""

    code = "job.lease_lost"
    status = 409
    en = "The job is now run by another worker."
    zh = "任务已由其他 worker 接管。"


class UnknownKind(HandrailError):
    code = "job.unknown_kind"
    status = 400
    en = "There is no job of the kind {kind}."
    zh = "没有类型为 {kind} 的任务。"
