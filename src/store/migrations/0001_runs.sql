-- What a run is made of. Identifiers compare by bytes; nothing here ever needs a language's order.
create table runs (
  run_id text collate "C" primary key,
  name text not null,
  document_digest text,
  workflow_id text not null,
  state text not null default 'preparing',
  -- Why a run waits: for approval, or paused by whom.
  state_note text,
  -- The terminal state that was decided first; nothing overwrites it within a generation.
  frozen_state text,
  frozen_reason text,
  -- How it had ended before its answers were graded again: it ends so once more.
  kept_state text,
  kept_reason text,
  -- Not null = begin_call refuses.
  stop_reason text,
  generation int not null default 1,
  -- Names the resume or retry that opened the latest generation, so that its redelivery is a no-op.
  generation_token text,
  plan_digest text,
  fail_fast boolean not null default false,
  on_exceed text not null default 'stop',
  has_caps boolean not null default false,
  max_run_usd numeric,
  max_model_usd numeric,
  max_run_tokens bigint,
  engine_ids text[] not null default '{}',
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
create index runs_open on runs (created_at) where finished_at is null;

create table plans (
  digest text collate "C" primary key,
  plan text not null,
  created_at timestamptz not null default now()
);

create table requests (
  run_id text collate "C" not null,
  request_index int not null,
  name text not null,
  suite_key text collate "C" not null,
  k int not null,
  strategy text not null,
  light boolean not null,
  -- Null = its tasks may not start yet.
  prepared_at timestamptz,
  -- What its sessions start from, by its exact name, where that was found while the run went on.
  image text,
  -- Why it could not be prepared.
  failure text,
  -- The terminal state of the request; null = it has not ended.
  state text,
  finished_at timestamptz,
  primary key (run_id, request_index)
);

create table cases (
  run_id text collate "C" not null,
  suite_key text collate "C" not null,
  case_id text collate "C" not null,
  position int not null,
  digest text not null,
  weight double precision not null,
  cluster text,
  tags text not null,
  test_case text not null,
  -- Apart from the case: only scorers may resolve it.
  target text,
  primary key (run_id, suite_key, case_id)
);

create table tasks (
  run_id text collate "C" not null,
  task int not null,
  request_index int not null,
  model_id text collate "C" not null,
  case_id text collate "C" not null,
  -- What the answers of its cells depend on: the setup, kept as a row of plans, and the case; and their scores.
  setup_digest text,
  content_digest text,
  grading_digest text,
  -- An answer that is recorded can be graded without running anything.
  gradable boolean not null default false,
  primary key (run_id, task)
);

create table reservations (
  run_id text collate "C" not null,
  -- 'run', or 'model/' and the model's id.
  scope text collate "C" not null,
  cap_usd numeric,
  cap_tokens bigint,
  spent_usd numeric not null default 0,
  spent_tokens bigint not null default 0,
  reserved_usd numeric not null default 0,
  reserved_tokens bigint not null default 0,
  open_calls int not null default 0,
  -- Set under onExceed: warn, when a call was let through although it did not fit.
  exceeded_at timestamptz,
  stop_reason text,
  primary key (run_id, scope)
) with (fillfactor = 50);

create table limit_changes (
  id bigint generated always as identity primary key,
  run_id text collate "C",
  engine_id text collate "C",
  limit_name text not null,
  old_value text,
  new_value text,
  reason text not null,
  changed_by text,
  -- Names the message that asked for it, so that a redelivery changes nothing more.
  change_key text,
  changed_at timestamptz not null default now()
);
create unique index limit_changes_message on limit_changes (run_id, change_key, limit_name, coalesce(engine_id, ''))
where change_key is not null;
