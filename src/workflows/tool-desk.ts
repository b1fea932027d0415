import * as workflow from '@temporalio/workflow';
import { formatAskedCall, findResolveProblem, type ResolveRequest } from '../domain/resolve-request.ts';
import type { AskedCall, ToolResolution } from '../domain/tool-ledger.ts';
import { NOTHING_WAITS, RESOLVE_TOOL_CALL, type ResolvedToolCall } from './messages.ts';

/** Where an attempt waits for a person's word on a tool call whose outcome nobody knows. */
export class ToolDesk {
  private asked: AskedCall | null = null;
  private answer: ToolResolution | null = null;

  /** An update that answers and refuses what cannot be, and a signal of the same name. */
  handleMessages(): void {
    const description =
      'Say what became of a tool call whose worker was lost. Input: { choice: "done" | "rerun" | "skip", output?, step?, call?, by? }.';
    const handle = (input: unknown): ResolvedToolCall => this.resolve(input as ResolveRequest);
    workflow.setHandler(workflow.defineUpdate<ResolvedToolCall, [unknown]>(RESOLVE_TOOL_CALL), handle, {
      description,
      validator: (input) => {
        const problem = this.findProblem(input);
        if (problem !== null) throw workflow.ApplicationFailure.nonRetryable(problem, 'Refused');
      },
    });
    workflow.setHandler(
      workflow.defineSignal<[unknown]>(RESOLVE_TOOL_CALL),
      (input) => {
        const problem = this.findProblem(input);
        if (problem === null) handle(input);
        else workflow.log.warn(`signal ${RESOLVE_TOOL_CALL} was ignored`, { problem });
      },
      { description },
    );
  }

  /** Waits for somebody's word, or for its expiry. A cancelled attempt stops waiting. */
  async ask(asked: AskedCall, expiryMs: number): Promise<ToolResolution> {
    this.asked = asked;
    this.answer = null;
    workflow.setCurrentDetails(
      `**Waiting for a decision**: ${formatAskedCall(asked)}. Type \`assay resolve\`, or send the update \`${RESOLVE_TOOL_CALL}\`.`,
    );
    try {
      await workflow.condition(() => this.answer !== null, expiryMs, {
        summary: `${asked.tool}: the question expires`,
      });
      return this.answer ?? { choice: 'expired', executions: asked.executions, by: null };
    } finally {
      this.asked = null;
      workflow.setCurrentDetails('');
    }
  }

  private findProblem(input: unknown): string | null {
    if (this.asked === null) return NOTHING_WAITS;
    if (this.answer !== null) return `it was decided before: ${this.answer.choice}`;
    return findResolveProblem(input, this.asked);
  }

  private resolve({ choice, output, by }: ResolveRequest): ResolvedToolCall {
    const { asked } = this;
    if (asked === null) throw workflow.ApplicationFailure.nonRetryable('nothing waits', 'Refused');
    this.answer = {
      choice,
      executions: asked.executions,
      by: by ?? null,
      ...(output === undefined ? {} : { output }),
    };
    return { choice, step: asked.step, call: asked.call, tool: asked.tool };
  }
}
