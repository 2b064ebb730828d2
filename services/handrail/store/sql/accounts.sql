-- name: device_by_token
-- Before a user is known (app.token_hash): whose device has this token.
select device_id::text, user_id::text from devices where token_hash = app_hash('token');

-- name: identity
-- As the device's user: everything a request needs to know.
select d.device_id::text, d.name as device_name, d.origin, u.user_id::text, u.name as user_name, u.is_admin, u.is_auditor,
       m.role, w.workspace_id::text, w.name as workspace_name, w.root, w.allowed_paths
from devices d
join users u using (user_id)
join members m using (workspace_id, user_id)
join workspaces w using (workspace_id)
where d.device_id = %(device_id)s;

-- name: touch_device
-- At most once a minute.
update devices set last_seen = to_timestamp(%(now)s)
where device_id = %(device_id)s and (last_seen is null or last_seen < to_timestamp(%(now)s) - interval '55 seconds');

-- name: own_devices
select device_id::text, name, origin, workspace_id::text, extract(epoch from created_at)::float8 as created_at,
       extract(epoch from last_seen)::float8 as last_seen
from devices order by created_at, device_id;

-- name: rename_device
update devices set name = %(name)s where device_id = %(device_id)s returning device_id::text;

-- name: remove_device
-- Ends its token.
delete from devices where device_id = %(device_id)s returning device_id::text, user_id::text, name;

-- name: add_device
insert into devices (device_id, user_id, workspace_id, name, origin, token_hash)
values (%(device_id)s, %(user_id)s, %(workspace_id)s, %(name)s, %(origin)s, %(token_hash)s);

-- name: add_pairing
-- As the user whom the code is for.
insert into pairings (user_id, workspace_id, code_hash, hardened, created_at, expires_at)
values (%(user_id)s, %(workspace_id)s, %(code_hash)s, %(hardened)s, to_timestamp(%(now)s), to_timestamp(%(expires_at)s))
returning pairing_id::text;

-- name: use_pairing
-- Before a user is known (app.code_hash): take the code if it is unused and alive. Exactly one of several callers gets it.
update pairings set used_at = to_timestamp(%(now)s)
where pairing_id = (
  select pairing_id from pairings
  where code_hash = app_hash('code') and used_at is null and expires_at > to_timestamp(%(now)s)
    and case when hardened then %(hardened)s else %(digits)s end
  order by created_at limit 1 for update skip locked
) and used_at is null
returning pairing_id::text, user_id::text, workspace_id::text, code_hash;

-- name: own_memberships
select w.workspace_id::text, w.name, w.root, w.allowed_paths, m.role
from members m join workspaces w using (workspace_id)
where m.user_id = app_user()
order by m.created_at, w.name;

-- name: update_workspace
-- As an owner of it: the policy lets nobody else.
update workspaces set root = coalesce(%(root)s, root), allowed_paths = coalesce(%(allowed_paths)s, allowed_paths)
where workspace_id = %(workspace_id)s
returning workspace_id::text, name, root, allowed_paths;

-- name: all_users
select u.user_id::text, u.name, u.is_admin, u.is_auditor, extract(epoch from u.created_at)::float8 as created_at,
       (select count(*) from devices d where d.user_id = u.user_id) as devices
from users u order by u.created_at, u.name;

-- name: user_by_name
select user_id::text, name, is_admin, is_auditor from users where name = %(name)s;

-- name: first_user
select user_id::text, name, is_admin, is_auditor from users where is_admin order by created_at, user_id limit 1;

-- name: add_user
insert into users (name, is_admin, is_auditor) values (%(name)s, %(is_admin)s, %(is_auditor)s)
on conflict (name) do nothing
returning user_id::text;

-- name: remove_user
-- Devices, sessions, memberships, approvals and jobs go with it; audit rows stay. The last administrator stays too.
delete from users u where u.name = %(name)s
  and (not u.is_admin or exists (select from users o where o.is_admin and o.user_id <> u.user_id))
returning u.user_id::text;

-- name: all_workspaces
select w.workspace_id::text, w.name, w.root, w.allowed_paths,
       coalesce((select jsonb_object_agg(u.name, m.role) from members m join users u using (user_id)
                 where m.workspace_id = w.workspace_id), '{}') as members
from workspaces w order by w.created_at, w.name;

-- name: workspace_by_name
select workspace_id::text, name, root, allowed_paths from workspaces where name = %(name)s;

-- name: add_workspace
insert into workspaces (name, root, allowed_paths) values (%(name)s, %(root)s, %(allowed_paths)s)
on conflict (name) do nothing
returning workspace_id::text;

-- name: remove_workspace
delete from workspaces where name = %(name)s returning workspace_id::text;

-- name: set_member
insert into members (workspace_id, user_id, role) values (%(workspace_id)s, %(user_id)s, %(role)s)
on conflict (workspace_id, user_id) do update set role = excluded.role;

-- name: remove_member
-- Ends the devices that work there.
delete from members where workspace_id = %(workspace_id)s and user_id = %(user_id)s returning user_id::text;

-- name: all_devices
select d.device_id::text, d.name, d.origin, u.name as "user", w.name as workspace,
       extract(epoch from d.created_at)::float8 as created_at, extract(epoch from d.last_seen)::float8 as last_seen
from devices d join users u using (user_id) join workspaces w using (workspace_id)
where %(user)s::text is null or u.name = %(user)s
order by d.created_at, d.device_id;
