-- One row for each request that was sent (or may have been), written before it is sent.
create table model_calls (
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  try_number int not null,
  purpose text collate "C" not null,
  step int not null,
  request_number int not null,
  model_id text not null,
  engine_id text not null,
  -- started, completed, failed, lost (nobody knows what became of it), late (lost, then heard of)
  state text not null default 'started',
  -- Failures that count as retries, this request included.
  failures int not null default 0,
  worst_tokens bigint not null,
  worst_usd numeric,
  -- Tokens taken from the engine's tokens a minute before it was sent; null = no such limit.
  rate_tokens bigint,
  -- Whether reservations hold this call's worst case, or its spend once it is settled.
  reserved boolean not null,
  -- What the reservations were charged when it was settled; corrected when the truth comes late.
  charged_tokens bigint,
  charged_usd numeric,
  -- The charge is the worst case, not what the provider said.
  estimated boolean not null default false,
  input_tokens bigint,
  output_tokens bigint,
  reasoning_tokens bigint,
  cache_read_tokens bigint,
  cache_write_tokens bigint,
  cost_usd numeric,
  latency_ms double precision,
  waited_ms double precision not null default 0,
  finish_reason text,
  answer_digest text,
  notes text,
  failure_class text,
  failure_message text,
  -- A failed row without it is final.
  retry_at timestamptz,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  primary key (run_id, task, attempt, generation, try_number, purpose, step, request_number)
) with (fillfactor = 70);

create table engines (
  engine_id text collate "C" primary key,
  kind text not null,
  base_url text,
  key_name text,
  concurrency text not null default 'auto',
  requests_per_minute int,
  tokens_per_minute bigint,
  paused_until timestamptz,
  pause_reason text,
  updated_at timestamptz not null default now()
);

create table engine_events (
  id bigint generated always as identity primary key,
  engine_id text collate "C" not null,
  run_id text collate "C",
  kind text not null,
  reason text,
  detail text,
  created_at timestamptz not null default now()
);

-- Requests and tokens a minute of one engine, for all workers and runs together. Only engines with a limit have
-- a row. Times are milliseconds since 1970. What they mean: 0011.
create table engine_rates (
  engine_id text collate "C" primary key,
  -- From when on the next request may start, and the tokens of all earlier ones are paid off.
  requests_ms double precision not null default 0,
  tokens_ms double precision not null default 0,
  -- Mean of real tokens / bound over answered requests: what of the bound is taken before the answer.
  token_share double precision not null default 1,
  token_samples int not null default 0
) with (fillfactor = 50);

-- Runs that wait for one engine get equal shares of it: each has a clock for the places that it has taken, and
-- one for the calls that are to come back when it is their turn.
create table engine_rate_runs (
  engine_id text collate "C" not null,
  run_id text collate "C" not null,
  taken_ms double precision not null default 0,
  next_ms double precision not null default 0,
  primary key (engine_id, run_id)
) with (fillfactor = 50);

-- Calls that wait for a rate, each with the time for which it has booked.
create table booked_starts (
  run_id text collate "C" not null,
  task int not null,
  attempt int not null,
  generation int not null,
  try_number int not null,
  purpose text collate "C" not null,
  step int not null,
  engine_id text not null,
  start_ms double precision not null,
  -- Whether its place in the line is taken: it may start then, whoever else comes.
  paid boolean not null,
  tokens bigint not null,
  primary key (run_id, task, attempt, generation, try_number, purpose, step)
) with (fillfactor = 70);
