import { activityInfo } from '@temporalio/activity';

/** Id of the workflow that the running activity belongs to; empty for a standalone one. */
export const workflowIdOf = (): string => activityInfo().workflowExecution?.workflowId ?? '';
