import type { NetworkPolicy } from '../domain/network-policy.ts';
import { listenInNamespace, PROXY_PORT, toProxyVariables } from './namespace-listener.ts';
import { NetworkProxy } from './network-proxy.ts';
import { createAdmission } from './network-targets.ts';

/** A network namespace: what tells it from a later one, and the argument list that enters it. */
export type Namespace = { readonly id: string; readonly enter: readonly string[] };

/** The way out of one session under an allowlist: there while the policy says so, gone otherwise. */
export class SessionProxy {
  #running: { readonly proxy: NetworkProxy; readonly namespaceId: string; allow: string } | null = null;
  #changing: Promise<void> = Promise.resolve();

  /** Makes it as the policy says; returns the variables that commands get. */
  async hold(
    policy: NetworkPolicy,
    findNamespace: () => Promise<Namespace>,
  ): Promise<{ readonly [name: string]: string }> {
    const change = this.#changing.then(() => this.#change(policy, findNamespace));
    this.#changing = change.catch(() => undefined);
    await change;
    return policy.mode === 'allowlist' ? toProxyVariables() : {};
  }

  async close(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.proxy.close();
  }

  async #change(policy: NetworkPolicy, findNamespace: () => Promise<Namespace>): Promise<void> {
    if (policy.mode !== 'allowlist') return await this.close();
    const namespace = await findNamespace();
    const allow = JSON.stringify(policy.allow);
    if (this.#running?.namespaceId === namespace.id) {
      if (this.#running.allow !== allow) this.#running.proxy.allow(createAdmission(policy.allow));
      this.#running.allow = allow;
      return;
    }
    await this.close();
    const proxy = new NetworkProxy(createAdmission(policy.allow));
    await listenInNamespace(proxy.server, namespace.enter, PROXY_PORT);
    this.#running = { proxy, namespaceId: namespace.id, allow };
  }
}
