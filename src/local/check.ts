/** One thing that was looked at; `whatToDo` is null when it is well. One that is `ok` with advice is a warning. */
export type Check = {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly whatToDo: string | null;
};

/** A check that is well. */
export function passed(name: string, detail: string): Check {
  return { name, ok: true, detail, whatToDo: null };
}

/** A check that is not well, with what to do. */
export function failed(name: string, detail: string, whatToDo: string): Check {
  return { name, ok: false, detail, whatToDo };
}

/** A check that stands in nobody's way, with what to do about it. */
export function warned(name: string, detail: string, whatToDo: string): Check {
  return { name, ok: true, detail, whatToDo };
}
