-- Hosts whose worker lives: a row counts while it is fresh.
create table hosts (
  host_id text collate "C" primary key,
  seen_at timestamptz not null,
  -- What sessions of each kind can be opened there and what holds in them, by kind.
  environments jsonb not null
);

-- What went wrong beside an attempt and took nothing from it, such as a session that could not be closed.
create table attempt_warnings (
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  try_number int not null,
  phase text not null,
  message text not null,
  noted_at timestamptz not null default now(),
  primary key (run_id, task, attempt, generation, try_number, phase, message)
);
