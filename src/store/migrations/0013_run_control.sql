-- Limits of a run that goes on.

-- Raises caps. The reservations are locked before the run row, as begin_call does. A model that its cap had
-- stopped may call again; cells that were given up because of it stay as they are.
create function raise_caps(p_run text, p_caps jsonb)
returns table (limit_name text, old_value text, new_value text) language plpgsql as $$
declare
  run runs;
  cap record;
begin
  perform 1 from reservations where run_id = p_run order by scope <> 'run', scope for update;
  select * into run from runs where run_id = p_run for update;
  if not found then
    raise exception 'There is no run %.', p_run using errcode = 'AS001';
  elsif run.frozen_state is not null or run.finished_at is not null then
    raise exception 'The run is %: its caps are raised by `assay resume`.', coalesce(run.frozen_state, run.state)
      using errcode = 'AS006';
  end if;
  for cap in
    select c.key as name, c.value::numeric as wanted, case c.key when 'maxRunUsd' then run.max_run_usd
      when 'maxModelUsd' then run.max_model_usd when 'maxRunTokens' then run.max_run_tokens end as present
    from jsonb_each_text(p_caps) c
  loop
    if cap.present is null then
      raise exception '%: the run has no such cap, and one cannot be added while it runs. `assay cancel` and `assay resume` set one.',
        cap.name using errcode = 'AS006';
    elsif cap.wanted < cap.present then
      raise exception '%: it is %, and can only be raised while the run goes on; % is lower.', cap.name,
        trim_scale(cap.present), trim_scale(cap.wanted) using errcode = 'AS006';
    elsif cap.wanted > cap.present then
      limit_name := cap.name;
      old_value := trim_scale(cap.present);
      new_value := trim_scale(cap.wanted);
      return next;
    end if;
  end loop;
  update runs set
    max_run_usd = coalesce((p_caps ->> 'maxRunUsd')::numeric, max_run_usd),
    max_model_usd = coalesce((p_caps ->> 'maxModelUsd')::numeric, max_model_usd),
    max_run_tokens = coalesce((p_caps ->> 'maxRunTokens')::bigint, max_run_tokens)
  where run_id = p_run returning * into run;
  update reservations set cap_usd = run.max_run_usd, cap_tokens = run.max_run_tokens
  where run_id = p_run and scope = 'run';
  update reservations set stop_reason = null, cap_usd = run.max_model_usd
  where run_id = p_run and scope like 'model/%' and cap_usd < run.max_model_usd;
end $$;
