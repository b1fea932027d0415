-- How many sessions of a kind a host bears, for all its workers together.
create table session_limits (
  host_id text collate "C" not null,
  kind text collate "C" not null,
  -- Settings of its worker.
  capacity int not null,
  opens_per_second double precision not null,
  -- What somebody has set since; null = nothing.
  set_capacity int,
  primary key (host_id, kind)
);
