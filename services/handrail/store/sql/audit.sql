-- name: append
-- A batch of journal lines, as one JSON array. Lines that are there already (a commit whose answer was lost, a replayed
-- journal) stay as they are.
insert into audit_log (writer, seq, ts, category, action, level, user_id, device_id, workspace_id, peer, request_id, tool, token_id,
                       details, prev, hash)
select r.writer, r.seq, r.ts, r.category, r.action, r.level, r.user_id, r.device_id, r.workspace_id, r.peer, r.request_id, r.tool,
       r.token_id, r.details, decode(r.prev, 'hex'), decode(r.hash, 'hex')
from jsonb_to_recordset(%(batch)s::jsonb) as r(
  writer text, seq bigint, ts timestamptz, category text, action text, level text, user_id uuid, device_id uuid, workspace_id uuid,
  peer text, request_id text, tool text, token_id text, details jsonb, prev text, hash text)
on conflict (writer, seq) do nothing;

-- name: do_not_wait
-- Commit at once; the writer's journal is the durable copy until the server's log is on disk.
set synchronous_commit = off;

-- name: wait_for_disk
set synchronous_commit = on;

-- name: position
select pg_current_wal_insert_lsn()::text as answer;

-- name: flushed
select pg_current_wal_flush_lsn() >= %(position)s::pg_lsn as answer;

-- name: append_checkpoint
insert into audit_checkpoints (writer, number, at, heads, prev, hash, kid, signature)
values (%(writer)s, %(number)s, %(at)s::timestamptz, %(heads)s, decode(%(prev)s, 'hex'), decode(%(hash)s, 'hex'), %(kid)s, %(signature)s)
on conflict (writer, number) do nothing;

-- name: heads
-- Where every chain ends (handrail_audit). One index probe for each writer instead of a scan.
with recursive writers as (
  (select writer from audit_log order by writer limit 1)
  union all
  select (select l.writer from audit_log l where l.writer > w.writer order by l.writer limit 1) from writers w where w.writer is not null
)
select h.writer, h.seq, encode(h.hash, 'hex') as hash
from writers w
cross join lateral (select l.writer, l.seq, l.hash from audit_log l where l.writer = w.writer order by l.seq desc limit 1) h
where w.writer is not null;

-- name: all_rows
-- The whole log in chain order (handrail_audit).
select writer, seq, ts, category, action, level, user_id::text, device_id::text, workspace_id::text, peer, request_id, tool, token_id,
       details, encode(prev, 'hex') as prev, encode(hash, 'hex') as hash
from audit_log order by writer, seq;

-- name: all_checkpoints
select writer, number, at, heads, encode(prev, 'hex') as prev, encode(hash, 'hex') as hash, kid, signature
from audit_checkpoints order by writer, number;

-- name: entries
-- Newest first; a null filter does not filter. Which rows there are is up to the policies of the session's role.
select writer, seq, ts, category, action, level, user_id::text, device_id::text, workspace_id::text, peer, request_id, tool, token_id, details
from audit_log
where ts >= %(since)s and ts < %(until)s
  and (%(category)s::text is null or category = %(category)s)
  and (%(level)s::text is null or level = %(level)s)
  and (%(tool)s::text is null or tool = %(tool)s)
  and (%(user_id)s::uuid is null or user_id = %(user_id)s::uuid)
  and (%(text)s::text is null or position(lower(%(text)s) in lower(action || ' ' || details::text)) > 0)
order by ts desc, writer desc, seq desc
limit %(limit)s offset %(offset)s;

-- name: count_entries
select count(*) as total
from audit_log
where ts >= %(since)s and ts < %(until)s
  and (%(category)s::text is null or category = %(category)s)
  and (%(level)s::text is null or level = %(level)s)
  and (%(tool)s::text is null or tool = %(tool)s)
  and (%(user_id)s::uuid is null or user_id = %(user_id)s::uuid)
  and (%(text)s::text is null or position(lower(%(text)s) in lower(action || ' ' || details::text)) > 0);

-- name: dates
-- The UTC days of the last %(days)s that have a row, newest first.
select to_char(day, 'YYYY-MM-DD') as day
from generate_series(0, %(days)s - 1) as back,
     lateral (select (%(today)s::date - back::int)::timestamp as day) d
where exists (select from audit_log where ts >= d.day at time zone 'UTC' and ts < (d.day + interval '1 day') at time zone 'UTC'
              and (%(user_id)s::uuid is null or user_id = %(user_id)s::uuid))
order by day desc;
