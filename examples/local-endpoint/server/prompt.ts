export type ChatMessage = { readonly role: 'system' | 'user' | 'assistant'; readonly text: string };

/** Where a base model begins a turn of its own making: the answer is over. */
export const TURN_ENDS: readonly string[] = ['\n\n', '\nQuestion:'];

/**
 * A conversation as a text to go on with. A base model was never taught to chat; it follows the pattern of the
 * turns that it sees, so earlier questions with their answers are examples for it.
 */
export function toPrompt(messages: readonly ChatMessage[]): string {
  const turns = messages.map(({ role, text }) => {
    if (role === 'system') return `${text}\n\n`;
    return role === 'user' ? `Question: ${text}\n` : `Answer: ${text}\n\n`;
  });
  return `${turns.join('')}Answer:`;
}
