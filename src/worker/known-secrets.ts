import { createRedactor, type Redactor } from '../domain/redact.ts';

/**
 * The keys that this worker has, in memory only: handed over by commands, else from its own variables. Every
 * value is known to the redactor before its first use, and stays known when another takes its place.
 */
export class KnownSecrets {
  private readonly readVariable: (name: string) => string | null;
  private readonly handedOver = new Map<string, string>();
  private readonly values = new Set<string>();
  private redactor: Redactor = createRedactor([]);

  constructor(readVariable: (name: string) => string | null) {
    this.readVariable = readVariable;
  }

  /** A key that was handed over goes before the variable: it is the newer word of the user. */
  read(name: string): string | null {
    const value = this.handedOver.get(name) ?? this.readVariable(name);
    if (value !== null) this.know(value);
    return value;
  }

  take(name: string, value: string): void {
    if (value === '') return;
    this.know(value);
    this.handedOver.set(name, value);
  }

  /** Names of the variables that commands handed over. */
  listHandedOver(): readonly string[] {
    return [...this.handedOver.keys()];
  }

  redact(text: string): string {
    return this.redactor.redact(text);
  }

  private know(value: string): void {
    if (this.values.has(value)) return;
    this.values.add(value);
    this.redactor = createRedactor([...this.values]);
  }
}
