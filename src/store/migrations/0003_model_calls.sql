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
