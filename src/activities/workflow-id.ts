import { activityInfo } from '@temporalio/activity';

/** Id of the workflow that the running activity belongs to; empty for a standalone one. */
export const workflowIdOf = (): string => activityInfo().workflowExecution?.workflowId ?? '';

/** Id of that workflow's execution; empty for a standalone activity. */
export const executionIdOf = (): string => activityInfo().workflowExecution?.runId ?? '';
