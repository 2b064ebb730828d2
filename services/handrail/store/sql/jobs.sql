-- name: create
-- A queued job. The same id again does nothing: a message that comes twice makes one job.
insert into jobs (job_id, user_id, workspace_id, kind, arguments, created_at)
values (%(job_id)s, %(user_id)s, %(workspace_id)s, %(kind)s, %(arguments)s, to_timestamp(%(now)s))
on conflict (job_id) do nothing;

-- name: take
-- The lease: a queued job, or one whose worker has let its lease run out. Exactly one of several callers gets the row.
update jobs set state = 'running', fence = fence + 1, attempts = attempts + 1, lease_owner = %(owner)s,
       lease_until = to_timestamp(%(now)s) + make_interval(secs => %(lease_s)s),
       started_at = coalesce(started_at, to_timestamp(%(now)s))
where job_id = %(job_id)s
  and (state = 'queued' or (state = 'running' and lease_until <= to_timestamp(%(now)s)))
returning job_id::text, user_id::text, workspace_id::text, kind, arguments, fence, attempts, progress, cancel_requested;

-- name: renew
-- By the holder of the newest lease only; tells it whether it was asked to stop.
update jobs set lease_until = to_timestamp(%(now)s) + make_interval(secs => %(lease_s)s)
where job_id = %(job_id)s and fence = %(fence)s and state = 'running'
returning cancel_requested;

-- name: progress
update jobs set progress = %(progress)s
where job_id = %(job_id)s and fence = %(fence)s and state = 'running'
returning cancel_requested;

-- name: finish
-- A worker whose lease was taken over (an older fence) ends nothing.
update jobs set state = %(state)s, result = %(result)s, error = %(error)s, lease_owner = null, lease_until = null,
       finished_at = to_timestamp(%(now)s)
where job_id = %(job_id)s and fence = %(fence)s and state = 'running'
returning job_id::text;

-- name: release
-- Back to the queue: the worker is stopping and somebody else goes on.
update jobs set state = 'queued', lease_owner = null, lease_until = null
where job_id = %(job_id)s and fence = %(fence)s and state = 'running'
returning job_id::text;

-- name: cancel
-- A queued job is over at once; a running one is told at its next step.
update jobs set cancel_requested = true,
       state = case when state = 'queued' then 'cancelled' else state end,
       finished_at = case when state = 'queued' then to_timestamp(%(now)s) else finished_at end
where job_id = %(job_id)s and state in ('queued', 'running')
returning state;

-- name: get
select job_id::text, user_id::text, workspace_id::text, kind, arguments, state, progress, result, error, cancel_requested, attempts, fence,
       extract(epoch from created_at)::float8 as created_at, extract(epoch from started_at)::float8 as started_at,
       extract(epoch from finished_at)::float8 as finished_at
from jobs where job_id = %(job_id)s;

-- name: stranded
-- (Retention scope: of everybody.) Nobody works on them: the message was lost, or the worker died.
select job_id::text, user_id::text from jobs
where (state = 'queued' and created_at < to_timestamp(%(now)s) - make_interval(secs => %(grace_s)s))
   or (state = 'running' and lease_until <= to_timestamp(%(now)s))
order by created_at limit %(limit)s;

-- name: delete_old
-- (Retention scope.) A bounded step; again until it deletes nothing.
with gone as (
  delete from jobs where job_id in (
    select job_id from jobs
    where state in ('succeeded', 'failed', 'cancelled') and finished_at < to_timestamp(%(now)s) - make_interval(days => %(days)s)
    limit %(limit)s
  ) returning 1
) select count(*) as count from gone;

-- name: delete_old_pairings
-- (Retention scope.) Codes that are used or out of time, kept a while so that a late try gets the right answer.
with gone as (
  delete from pairings where pairing_id in (
    select pairing_id from pairings where expires_at < to_timestamp(%(now)s) - make_interval(secs => %(keep_s)s) limit %(limit)s
  ) returning 1
) select count(*) as count from gone;

-- name: delete_old_sessions
-- (Retention scope.) Browser sessions that have ended.
with gone as (
  delete from sessions where session_id in (
    select session_id from sessions where expires_at < to_timestamp(%(now)s) limit %(limit)s
  ) returning 1
) select count(*) as count from gone;
