-- Users, workspaces, devices, pairings, sessions, approvals, jobs, audit.
--
-- How a row is protected: every table with a user column has row-level security enabled and forced. A transaction sees
-- the rows of the user in `app.user_id`. Everything that happens before or without a user has a setting of its own;
-- `handrail.store.session` is the only code that sets any of them, and always for one transaction only:
--   app.user_id      the tenant
--   app.token_hash   look up one device by the hash of its token
--   app.code_hash    look up one pairing by the hash of its code
--   app.cookie_hash  look up one browser session by the hash of its cookie
--   app.scope        'admin' (users, workspaces, devices), 'retention' (delete what has ended), 'system' (jobs of no user)
--   app.writer       the audit writer that appends (a session setting of its own connection)
-- An unset or emptied setting is NULL, and NULL matches no row.

create function app_user() returns uuid language sql stable parallel safe
  as $$ select nullif(current_setting('app.user_id', true), '')::uuid $$;
create function app_hash(name text) returns bytea language sql stable parallel safe
  as $$ select decode(nullif(current_setting('app.' || name || '_hash', true), ''), 'hex') $$;
create function app_scope() returns text language sql stable parallel safe
  as $$ select nullif(current_setting('app.scope', true), '') $$;
create function app_writer() returns text language sql stable parallel safe
  as $$ select nullif(current_setting('app.writer', true), '') $$;

-- accounts -----------------------------------------------------------------------------------------------------------

create table users (
  user_id uuid primary key default gen_random_uuid(),
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  is_admin boolean not null default false,
  is_auditor boolean not null default false,
  created_at timestamptz not null default now()
);

create table workspaces (
  workspace_id uuid primary key default gen_random_uuid(),
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
  root text not null check (root ~ '^/'),
  allowed_paths text[] not null default '{}',
  settings jsonb not null default '{}',
  created_at timestamptz not null default now()
);

create table members (
  workspace_id uuid not null references workspaces on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('owner', 'member', 'viewer', 'auditor')),
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index members_user on members (user_id);

create table devices (
  device_id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  workspace_id uuid not null,
  name text not null check (length(name) between 1 and 200),
  origin text not null default '',
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_at timestamptz not null default now(),
  last_seen timestamptz,
  -- a device works where its user is a member: leaving the workspace ends it
  foreign key (workspace_id, user_id) references members (workspace_id, user_id) on delete cascade
);
create index devices_user on devices (user_id);
create index devices_workspace on devices (workspace_id, user_id);

create table pairings (
  pairing_id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  workspace_id uuid not null,
  code_hash bytea not null check (length(code_hash) = 32),
  hardened boolean not null default false,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  foreign key (workspace_id, user_id) references members (workspace_id, user_id) on delete cascade
);
create index pairings_code on pairings (code_hash);
create index pairings_user on pairings (user_id, created_at);

create table sessions (
  session_id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users on delete cascade,
  device_id uuid references devices on delete cascade,
  cookie_hash bytea not null unique check (length(cookie_hash) = 32),
  csrf text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_user on sessions (user_id);

-- approvals: pending -> allowed | denied | expired | cancelled, allowed -> used; always by compare-and-set ------------

create table approvals (
  approval_id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users on delete cascade,
  device_id uuid references devices on delete set null,
  workspace_id uuid not null references workspaces on delete cascade,
  tool text not null,
  args_hash text not null check (args_hash ~ '^[0-9a-f]{64}$'),
  summary jsonb not null default '{}',
  reasons jsonb not null default '[]',
  policy_version text not null,
  state text not null default 'pending' check (state in ('pending', 'allowed', 'denied', 'expired', 'cancelled', 'used')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  decided_by uuid,
  surface text,
  used_at timestamptz
);
create unique index approvals_open on approvals (user_id, device_id, args_hash) where state = 'pending';
create index approvals_user on approvals (user_id, created_at desc);
create index approvals_expiry on approvals (expires_at) where state in ('pending', 'allowed');

-- jobs: the row is the truth, the queue only says that there is something to do ---------------------------------------

create table jobs (
  job_id uuid primary key default gen_random_uuid(),
  user_id uuid references users on delete cascade,  -- null: a job of the service itself
  workspace_id uuid references workspaces on delete cascade,
  kind text not null,
  arguments jsonb not null default '{}',
  state text not null default 'queued' check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  progress jsonb not null default '{}',
  result jsonb,
  error jsonb,
  cancel_requested boolean not null default false,
  attempts integer not null default 0,
  fence bigint not null default 0,  -- grows with every lease: a worker with an older one may write nothing
  lease_owner text,
  lease_until timestamptz,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
create index jobs_user on jobs (user_id, created_at desc);
create index jobs_open on jobs (state, lease_until) where state in ('queued', 'running');

-- audit: append-only, one hash chain a writer --------------------------------------------------------------------------

create table audit_log (
  writer text not null check (writer ~ '^[0-9a-f]{12}$'),
  seq bigint not null check (seq > 0),
  ts timestamptz not null,
  category text not null check (category in ('auth', 'fs', 'exec', 'security', 'system')),
  action text not null,
  level text not null check (level in ('info', 'warn', 'error')),
  user_id uuid,
  device_id uuid,
  workspace_id uuid,
  peer text not null default '',
  request_id text not null default '',
  tool text not null default '',
  token_id text not null default '',
  details jsonb not null default '{}',
  prev bytea not null check (length(prev) = 32),
  hash bytea not null check (length(hash) = 32),
  primary key (writer, seq)
);
create index audit_log_user on audit_log (user_id, ts desc);
create index audit_log_ts on audit_log (ts desc);

create table audit_checkpoints (
  writer text not null check (writer ~ '^[0-9a-f]{12}$'),
  number integer not null check (number > 0),
  at timestamptz not null,
  heads jsonb not null,  -- [{writer, seq, hash}]: where each chain stood
  prev bytea not null check (length(prev) = 32),  -- hash of this writer's checkpoint before
  hash bytea not null check (length(hash) = 32),
  kid text not null,
  signature bytea not null check (length(signature) = 64),
  primary key (writer, number)
);

create function append_only() returns trigger language plpgsql
  as $$ begin raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege'; end $$;
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function append_only();
create trigger audit_checkpoints_append_only before update or delete or truncate on audit_checkpoints
  for each statement execute function append_only();

-- grants: what each role may do at all -------------------------------------------------------------------------------

grant select, insert, update, delete on users, workspaces, members, devices, pairings, sessions to handrail_api;
grant select, insert, update on approvals, jobs to handrail_api;
grant select, insert on audit_log, audit_checkpoints to handrail_api;
grant select on users, workspaces, members to handrail_worker;
grant select, insert, update, delete on jobs to handrail_worker;
grant select, delete on pairings, sessions, approvals to handrail_worker;
grant select, insert on audit_log, audit_checkpoints to handrail_worker;
grant select on audit_log, audit_checkpoints to handrail_audit;

-- policies: which rows of it -----------------------------------------------------------------------------------------

alter table users enable row level security;
alter table users force row level security;
create policy users_self on users for select to handrail_api, handrail_worker using (user_id = app_user());
create policy users_admin on users to handrail_api, handrail_owner using (app_scope() = 'admin') with check (app_scope() = 'admin');

alter table members enable row level security;
alter table members force row level security;
create policy members_self on members for select to handrail_api, handrail_worker using (user_id = app_user());
create policy members_admin on members to handrail_api, handrail_owner using (app_scope() = 'admin') with check (app_scope() = 'admin');

alter table workspaces enable row level security;
alter table workspaces force row level security;
create policy workspaces_member on workspaces for select to handrail_api, handrail_worker
  using (exists (select from members m where m.workspace_id = workspaces.workspace_id and m.user_id = app_user()));
create policy workspaces_owner on workspaces for update to handrail_api
  using (exists (select from members m where m.workspace_id = workspaces.workspace_id and m.user_id = app_user() and m.role = 'owner'))
  with check (exists (select from members m where m.workspace_id = workspaces.workspace_id and m.user_id = app_user() and m.role = 'owner'));
create policy workspaces_admin on workspaces to handrail_api, handrail_owner using (app_scope() = 'admin') with check (app_scope() = 'admin');

alter table devices enable row level security;
alter table devices force row level security;
create policy devices_self on devices to handrail_api using (user_id = app_user()) with check (user_id = app_user());
create policy devices_token on devices for select to handrail_api using (token_hash = app_hash('token'));
create policy devices_admin on devices to handrail_api using (app_scope() = 'admin') with check (app_scope() = 'admin');

alter table pairings enable row level security;
alter table pairings force row level security;
create policy pairings_self on pairings to handrail_api using (user_id = app_user()) with check (user_id = app_user());
create policy pairings_code on pairings for select to handrail_api using (code_hash = app_hash('code'));
create policy pairings_code_use on pairings for update to handrail_api using (code_hash = app_hash('code')) with check (code_hash = app_hash('code'));
create policy pairings_retention on pairings to handrail_worker using (app_scope() = 'retention') with check (false);

alter table sessions enable row level security;
alter table sessions force row level security;
create policy sessions_self on sessions to handrail_api using (user_id = app_user()) with check (user_id = app_user());
create policy sessions_cookie on sessions for select to handrail_api using (cookie_hash = app_hash('cookie'));
create policy sessions_retention on sessions to handrail_worker using (app_scope() = 'retention') with check (false);

alter table approvals enable row level security;
alter table approvals force row level security;
create policy approvals_self on approvals to handrail_api using (user_id = app_user()) with check (user_id = app_user());
create policy approvals_retention on approvals to handrail_worker using (app_scope() = 'retention') with check (false);

alter table jobs enable row level security;
alter table jobs force row level security;
create policy jobs_self on jobs to handrail_api, handrail_worker using (user_id = app_user()) with check (user_id = app_user());
create policy jobs_system on jobs to handrail_worker
  using (user_id is null and app_scope() = 'system') with check (user_id is null and app_scope() = 'system');
create policy jobs_retention on jobs to handrail_worker using (app_scope() = 'retention') with check (false);

alter table audit_log enable row level security;
alter table audit_log force row level security;
create policy audit_log_append on audit_log for insert to handrail_api, handrail_worker with check (writer = app_writer());
create policy audit_log_own_chain on audit_log for select to handrail_api, handrail_worker using (writer = app_writer());
create policy audit_log_self on audit_log for select to handrail_api using (user_id = app_user());
create policy audit_log_audit on audit_log for select to handrail_audit using (true);

alter table audit_checkpoints enable row level security;
alter table audit_checkpoints force row level security;
create policy audit_checkpoints_append on audit_checkpoints for insert to handrail_api, handrail_worker with check (writer = app_writer());
create policy audit_checkpoints_own on audit_checkpoints for select to handrail_api, handrail_worker using (writer = app_writer());
create policy audit_checkpoints_audit on audit_checkpoints for select to handrail_audit using (true);
