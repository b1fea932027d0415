-- What happens to a planned cell. The attempt key (run, task, attempt, generation) leads every key.
create table attempts (
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  -- False once a later generation has planned the cell again.
  latest boolean not null default true,
  -- False once strategy `pass` has taken the cell out of the plan.
  planned boolean not null default true,
  outcome text,
  score double precision,
  pass boolean,
  reason_code text,
  -- The outcome as JSON; text and not jsonb, because jsonb holds neither U+0000 nor lone surrogates.
  detail text,
  try_number int not null default 0,
  -- True when the store itself gave the outcome: skipped, or left over when the run was settled.
  settled boolean not null default false,
  answer_digest text,
  answer_preview text,
  -- What it is made of, written before it opens anything; null = the run's plan says it all.
  plan_digest text,
  -- The cell whose answer it has: of another run, or of an earlier generation. Without an outcome it is to be graded,
  -- and nothing is run.
  origin_run text collate "C",
  origin_task int,
  origin_attempt int,
  origin_generation int,
  -- Taken from another run although what its answer depends on differs.
  mismatch boolean not null default false,
  recorded_at timestamptz,
  primary key (run_id, task, attempt, generation)
) with (fillfactor = 70);

create table tries (
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  try_number int not null,
  -- A result that came after the run was settled: kept, counted nowhere.
  late boolean not null default false,
  stage text,
  scope text,
  pattern text,
  error text,
  plan_digest text,
  detail text,
  ended_at timestamptz not null default now(),
  primary key (run_id, task, attempt, generation, try_number, late)
);

create table scores (
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  score_version int not null default 1,
  scorer text collate "C" not null,
  position int not null,
  kind text not null,
  weight double precision not null,
  required boolean not null,
  -- Null = unscored, with a code; never 0 for "could not judge".
  value double precision,
  pass boolean,
  code text,
  explanation text not null,
  metrics text,
  primary key (run_id, task, attempt, generation, score_version, scorer)
);

create table steps (
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  try_number int not null,
  sequence int not null,
  role text not null,
  digest text not null,
  created_at timestamptz not null default now(),
  primary key (run_id, task, attempt, generation, try_number, sequence)
);

create table tool_calls (
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  try_number int not null,
  step int not null,
  call int not null,
  tool text not null,
  arguments_digest text not null,
  idempotent boolean not null,
  -- The model wrote its arguments in a way that had to be repaired.
  repaired boolean not null default false,
  state text not null default 'started',
  status text,
  output_digest text,
  executions int not null default 1,
  -- Nobody knows its outcome, and its attempt waits for a person: since when, and which workflow is to be told.
  asked_at timestamptz,
  asked_workflow text,
  -- What the person said (`done`, `rerun`, `skip`), or `expired`.
  resolution text,
  resolved_by text,
  started_at timestamptz not null default now(),
  completed_at timestamptz,
  primary key (run_id, task, attempt, generation, try_number, step, call)
) with (fillfactor = 80);

create table artifacts (
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  try_number int not null,
  name text collate "C" not null,
  digest text not null,
  size_bytes bigint not null,
  media_type text,
  created_at timestamptz not null default now(),
  primary key (run_id, task, attempt, generation, try_number, name)
);

create table environment_sessions (
  session_id text collate "C" primary key,
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  try_number int not null,
  purpose text not null,
  kind text not null,
  host_id text collate "C" not null,
  root text,
  workflow_id text not null,
  -- The execution that opened it: one that began anew opens it again.
  execution_id text not null,
  -- intent, open, retained, closed
  state text not null default 'intent',
  -- A session that is to be kept is retained for so long instead of being closed; null = closed.
  keep_ms bigint,
  keep_until timestamptz,
  -- The limits as they hold.
  resources jsonb,
  created_at timestamptz not null default now(),
  opened_at timestamptz,
  closed_at timestamptz
);
create index environment_sessions_live on environment_sessions (host_id) where state <> 'closed';
create index environment_sessions_run on environment_sessions (run_id);

create table blobs (
  digest text collate "C" not null,
  -- Chunk 0 is written last and carries the size of the whole: without it the blob is not there.
  chunk int not null,
  size_bytes bigint,
  bytes bytea not null,
  primary key (digest, chunk)
);

-- Keeps a value of one chunk. Null bytes = the caller stored the chunks of a larger one before.
create function keep_blob(p_digest text, p_bytes bytea) returns void
language sql as $$
  insert into blobs (digest, chunk, size_bytes, bytes)
  select p_digest, 0, length(p_bytes), p_bytes where p_bytes is not null
  on conflict do nothing
$$;
