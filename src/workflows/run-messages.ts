import * as workflow from '@temporalio/workflow';
import type { LimitChanges, Sender } from '../domain/run-control.ts';
import { RUN_MESSAGES, type RunMessage, type Steered } from './messages.ts';
import type { RunControls } from './run-controls.ts';

/** What a person reads in the Temporal UI before sending one. */
const DESCRIPTIONS: { readonly [message in RunMessage]: string } = {
  approve: 'Let a run start whose estimate is above budgets.confirmAboveUsd. Input: { by?, note? }.',
  reject: 'End a run that awaits approval as cancelled; nothing is spent. Input: { by?, note? }.',
  pause: 'Start no task, attempt or try; what runs goes on, the deadline waits. Input: { by?, note? }.',
  unpause: 'Go on after a pause. Input: { by?, note? }.',
  set: 'Change limits while the run goes on. Input: any of { taskConcurrency, slots: { provider: n or "auto" }, sessions: { environment: n or "auto" }, maxRunUsd, maxModelUsd, maxRunTokens (caps upward only), timeoutMs, by, note }.',
};

/** Every message to a run, as an update and as a signal. Called before anything is awaited. */
export function handleMessages(controls: RunControls): void {
  for (const name of RUN_MESSAGES) {
    const { findProblem, act } = toHandling(name, controls);
    const handle = async (input: unknown): Promise<Steered> => {
      await controls.prepared();
      refuse(controls, findProblem(input));
      return await act(input ?? {});
    };
    const description = DESCRIPTIONS[name];
    workflow.setHandler(workflow.defineUpdate<Steered, [unknown]>(name), handle, {
      description,
      validator: (input) => refuse(controls, findProblem(input)),
    });
    workflow.setHandler(
      workflow.defineSignal<[unknown]>(name),
      (input) => onSignal(name, () => handle(input)),
      { description },
    );
  }
}

type Handling = {
  readonly findProblem: (input: unknown) => string | null;
  /** Its input has been checked. */
  readonly act: (input: object) => Promise<Steered>;
};

function toHandling(name: RunMessage, controls: RunControls): Handling {
  switch (name) {
    case 'approve':
      return {
        findProblem: (input) => controls.findDecisionProblem('approved', input),
        act: (input) => controls.decide('approved', input as Sender),
      };
    case 'reject':
      return {
        findProblem: (input) => controls.findDecisionProblem('rejected', input),
        act: (input) => controls.decide('rejected', input as Sender),
      };
    case 'pause':
      return {
        findProblem: (input) => controls.findPauseProblem(input),
        act: (input) => controls.pause(input as Sender),
      };
    case 'unpause':
      return {
        findProblem: (input) => controls.findPauseProblem(input),
        act: (input) => controls.unpause(input as Sender),
      };
    case 'set':
      return {
        findProblem: (input) => controls.findSetProblem(input),
        act: (input) => controls.set(input as LimitChanges),
      };
  }
}

function refuse({ runId }: RunControls, problem: string | null): void {
  if (problem !== null) {
    throw workflow.ApplicationFailure.nonRetryable(`run ${runId}: ${problem}`, 'Refused');
  }
}

/** A signal has nobody to answer: what cannot be is logged and leaves the run as it is. */
async function onSignal(name: RunMessage, handle: () => Promise<unknown>): Promise<void> {
  try {
    await handle();
  } catch (error) {
    if (!(error instanceof workflow.TemporalFailure)) throw error;
    workflow.log.warn(`signal ${name} was ignored`, { problem: error.message });
  }
}
