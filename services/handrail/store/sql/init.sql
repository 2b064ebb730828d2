-- name: role_exists
select true as present from pg_roles where rolname = %(name)s;

-- name: is_superuser
select rolsuper as superuser from pg_roles where rolname = current_user;

-- name: database_exists
select true as present from pg_database where datname = %(name)s;

-- name: vector_available
select true as present from pg_available_extensions where name = 'vector' and installed_version is null;

-- name: create_vector
create extension if not exists vector;

-- name: admin_scope
select set_config('app.scope', 'admin', true);

-- name: any_user
select true as present from users limit 1;

-- name: add_owner
-- The first user is the administrator.
insert into users (name, is_admin) values (%(name)s, true) returning user_id;

-- name: add_workspace
-- `started_with` remembers what the service was started with, see move_workspace.
insert into workspaces (name, root, allowed_paths, settings)
values (%(name)s, %(root)s, %(allowed)s, jsonb_build_object('started_with', %(started_with)s::text))
returning workspace_id;

-- name: add_member
insert into members (workspace_id, user_id, role) values (%(workspace_id)s, %(user_id)s, 'owner');

-- name: move_workspace
-- A start with another work root or other extra directories than last time moves the workspace; a start with the same
-- ones leaves what was set over the wire since.
update workspaces set root = %(root)s, allowed_paths = %(allowed)s,
       settings = settings || jsonb_build_object('started_with', %(started_with)s::text)
where name = %(name)s and settings ->> 'started_with' is distinct from %(started_with)s
returning root;
