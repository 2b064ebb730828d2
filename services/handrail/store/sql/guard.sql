-- name: role_facts
-- What the current role could do past the policies.
select r.rolname as role,
       r.rolsuper as superuser,
       r.rolbypassrls as bypasses,
       r.rolcreaterole or r.rolcreatedb as creates,
       exists (
         select from pg_class c
         where c.relkind in ('r', 'p', 'v', 'm') and c.relnamespace = 'public'::regnamespace
           and pg_has_role(r.oid, c.relowner, 'member')
       ) as owns
from pg_roles r
where r.rolname = current_user;

-- name: has_migrations
-- Whether the table of migrations is there.
select to_regclass('public.handrail_migrations') is not null as present;

-- name: schema_version
-- The last migration whose both halves ran.
select max(number) as number from handrail_migrations where phase = 'post';
