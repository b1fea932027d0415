-- An external agent that was started for a try: written before it runs, completed with what it left. A row that is
-- found started by a later delivery is one whose worker was lost.
create table command_runs (
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  try_number int not null,
  -- started, completed, lost, cancelled
  state text not null default 'started',
  session_id text collate "C" not null,
  host_id text collate "C" not null,
  -- It ended, and its answer can be graded.
  answered boolean not null default false,
  -- How it ended, what it used and where its output is, as JSON.
  detail text,
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (run_id, task, attempt, generation, try_number)
);
