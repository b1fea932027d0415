import type { NetworkPolicy } from '../domain/network-policy.ts';
import type { EnvironmentSpec } from '../domain/run.ts';
import type { TestCase } from '../domain/suite.ts';

/**
 * The case as its agent is given it: where the network is closed while it works, its instruction says so once, so that
 * it spends no steps on finding out. Scorers see the case as it is.
 */
export function adjustInput(testCase: TestCase, environment: EnvironmentSpec): TestCase {
  const notice = environment.kind === 'none' ? null : describe(environment.network.run);
  if (notice === null) return testCase;
  const { input } = testCase;
  if (input.kind === 'text')
    return { ...testCase, input: { kind: 'text', text: `${input.text}\n\n${notice}` } };
  const last = input.messages.findLastIndex(({ role }) => role === 'user');
  const messages = input.messages.map((message, at) =>
    at === last ? { ...message, text: `${message.text}\n\n${notice}` } : message,
  );
  return { ...testCase, input: { kind: 'messages', messages } };
}

function describe(policy: NetworkPolicy): string | null {
  switch (policy.mode) {
    case 'public':
      return null;
    case 'none':
      return 'Note: your commands have no network access.';
    case 'allowlist':
      return `Note: the network access of your commands is limited to ${policy.allow.join(', ')}.`;
  }
}
