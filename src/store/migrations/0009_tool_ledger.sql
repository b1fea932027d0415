-- Write-ahead: `fresh` is answered only after the row `started` is there. What follows from a row that was
-- there before is decided by `decideToolCall` in src/domain/tool-ledger.ts.
create function start_tool_call(
  p_run text, p_task int, p_attempt int, p_generation int, p_try int, p_step int, p_call int,
  p_tool text, p_arguments_digest text, p_idempotent boolean, p_repaired boolean,
  out kind text, out executions int, out output_digest text, out status text
) language plpgsql as $$
#variable_conflict use_column
declare
  row tool_calls;
begin
  insert into tool_calls (run_id, task, attempt, generation, try_number, step, call, tool, arguments_digest,
    idempotent, repaired)
  values (p_run, p_task, p_attempt, p_generation, p_try, p_step, p_call, p_tool, p_arguments_digest, p_idempotent,
    p_repaired)
  on conflict do nothing;
  executions := 1;
  if found then
    kind := 'fresh';
    return;
  end if;
  select * into row from tool_calls
  where run_id = p_run and task = p_task and attempt = p_attempt and generation = p_generation
    and try_number = p_try and step = p_step and call = p_call
  for update;
  if row.tool <> p_tool or row.arguments_digest <> p_arguments_digest then
    raise exception 'Call % of step % was started as % with other arguments; the ledger keeps one call a key.',
      p_call, p_step, row.tool using errcode = 'AS006';
  end if;
  kind := row.state; executions := row.executions; output_digest := row.output_digest; status := row.status;
end $$;

-- Counts one more execution before it begins; false = the row has moved on since `p_executions` was read.
create function rerun_tool_call(
  p_run text, p_task int, p_attempt int, p_generation int, p_try int, p_step int, p_call int, p_executions int
) returns boolean language sql as $$
  with again as (
    update tool_calls set executions = executions + 1
    where run_id = p_run and task = p_task and attempt = p_attempt and generation = p_generation
      and try_number = p_try and step = p_step and call = p_call and state = 'started' and executions = p_executions
    returning 1
  ) select exists (select from again)
$$;

-- Calls whose outcome somebody is asked about.
create index tool_calls_asked on tool_calls (run_id) where asked_at is not null and state = 'started';

-- Completes a started row and keeps the full output and the message that the model reads. The first end
-- wins; returns whether this one did.
create function complete_tool_call(
  p_run text, p_task int, p_attempt int, p_generation int, p_try int, p_step int, p_call int,
  p_status text, p_output_digest text, p_output bytea, p_sequence int, p_message_digest text, p_message bytea
) returns boolean language plpgsql as $$
begin
  update tool_calls set
    state = 'completed', status = p_status, output_digest = p_output_digest, completed_at = clock_timestamp()
  where run_id = p_run and task = p_task and attempt = p_attempt and generation = p_generation
    and try_number = p_try and step = p_step and call = p_call and state = 'started';
  if not found then
    if exists (select from tool_calls where run_id = p_run and task = p_task and attempt = p_attempt
      and generation = p_generation and try_number = p_try and step = p_step and call = p_call) then
      return false;
    end if;
    raise exception 'Call % of step % was never started.', p_call, p_step using errcode = 'AS002';
  end if;
  perform keep_blob(p_output_digest, p_output);
  perform keep_blob(p_message_digest, p_message);
  insert into steps (run_id, task, attempt, generation, try_number, sequence, role, digest)
  values (p_run, p_task, p_attempt, p_generation, p_try, p_sequence, 'tool', p_message_digest)
  on conflict do nothing;
  return true;
end $$;
