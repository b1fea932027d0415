import { createRedactor, type Redactor } from '../domain/redact.ts';

/** The values of the variables that providers named so far: each is known before its first use. */
export class KnownSecrets {
  private readonly readVariable: (name: string) => string | null;
  private readonly values = new Map<string, string>();
  private redactor: Redactor = createRedactor([]);

  constructor(readVariable: (name: string) => string | null) {
    this.readVariable = readVariable;
  }

  read(name: string): string | null {
    const value = this.readVariable(name);
    if (value !== null && this.values.get(name) !== value) {
      this.values.set(name, value);
      this.redactor = createRedactor([...this.values.values()]);
    }
    return value;
  }

  redact(text: string): string {
    return this.redactor.redact(text);
  }
}
