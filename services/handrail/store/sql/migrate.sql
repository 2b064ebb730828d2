-- name: lock
-- One migrator at a time; released with the session.
select pg_advisory_lock(7263914420);

-- name: unlock
select pg_advisory_unlock(7263914420);

-- name: table
-- Which halves of which migrations have run.
create table if not exists handrail_migrations (
  number integer not null,
  phase text not null check (phase in ('pre', 'post')),
  name text not null,
  sha256 text not null,
  applied_at timestamptz not null default now(),
  primary key (number, phase)
);

-- name: grant
-- Every service reads it to check that it fits.
grant select on handrail_migrations to handrail_api, handrail_worker, handrail_audit;

-- name: applied
select number, phase, sha256 from handrail_migrations;

-- name: record
insert into handrail_migrations (number, phase, name, sha256) values (%(number)s, %(phase)s, %(name)s, %(sha256)s);
