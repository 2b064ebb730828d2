-- name: expire
-- (Every statement here changes a state only together with the test of the old one and of the deadline.)
-- As the user: what nobody decided in time is over.
update approvals set state = 'expired'
where user_id = app_user() and state in ('pending', 'allowed') and expires_at <= to_timestamp(%(now)s);

-- name: open
-- A new pending approval, or nothing when one is open for the same device and hash.
insert into approvals (user_id, device_id, workspace_id, tool, args_hash, summary, reasons, policy_version, created_at, expires_at)
values (%(user_id)s, %(device_id)s, %(workspace_id)s, %(tool)s, %(args_hash)s, %(summary)s, %(reasons)s, %(policy_version)s,
        to_timestamp(%(now)s), to_timestamp(%(expires_at)s))
on conflict (user_id, device_id, args_hash) where state = 'pending' do nothing
returning approval_id::text, extract(epoch from expires_at)::float8 as expires_at;

-- name: find_pending
select approval_id::text, extract(epoch from expires_at)::float8 as expires_at
from approvals
where device_id = %(device_id)s and args_hash = %(args_hash)s and state = 'pending' and expires_at > to_timestamp(%(now)s);

-- name: decide
update approvals set state = %(state)s, decided_at = to_timestamp(%(now)s), decided_by = %(decided_by)s, surface = %(surface)s
where approval_id = %(approval_id)s and state = 'pending' and expires_at > to_timestamp(%(now)s)
returning approval_id::text;

-- name: consume
-- Single use: exactly one of several callers gets the id. Pending ones too when `pending_too` (the wire's `force`).
update approvals set state = 'used', used_at = to_timestamp(%(now)s),
       decided_at = coalesce(decided_at, to_timestamp(%(now)s)),
       decided_by = coalesce(decided_by, user_id),
       surface = coalesce(surface, 'wire')
where approval_id = (
  select approval_id from approvals
  where device_id = %(device_id)s and args_hash = %(args_hash)s and expires_at > to_timestamp(%(now)s)
    and (state = 'allowed' or (%(pending_too)s and state = 'pending'))
  order by state, created_at limit 1 for update skip locked
) and state in ('allowed', 'pending')
returning approval_id::text;

-- name: get
select approval_id::text, device_id::text, workspace_id::text, tool, args_hash, summary, reasons, policy_version, surface,
       case when state in ('pending', 'allowed') and expires_at <= to_timestamp(%(now)s) then 'expired' else state end as state,
       extract(epoch from created_at)::float8 as created_at, extract(epoch from expires_at)::float8 as expires_at,
       extract(epoch from decided_at)::float8 as decided_at, decided_by::text
from approvals where approval_id = %(approval_id)s;

-- name: list_pending
select approval_id::text, device_id::text, workspace_id::text, tool, args_hash, summary, reasons, policy_version,
       extract(epoch from created_at)::float8 as created_at, extract(epoch from expires_at)::float8 as expires_at
from approvals where state = 'pending' and expires_at > to_timestamp(%(now)s)
order by created_at, approval_id;

-- name: delete_old
-- Retention (handrail_worker): decided or expired more than so many days ago.
with gone as (
  delete from approvals where expires_at < to_timestamp(%(now)s) - make_interval(days => %(days)s) returning 1
) select count(*) as count from gone;
