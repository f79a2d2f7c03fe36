// The framing guard: decides from the fields that delimit a message whether it may be handled at all.

/** Host, optional port, or an IPv6 literal; no user part, no path, no blanks. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w\-.~%!$&'()*+;=]+)(?::\d{0,5})?$/;
const LENGTH = /^\d{1,15}$/;
/** By a pattern, not by lower case: Unicode's case mapping would take a Kelvin sign for a k. */
const CHUNKED = /^chunked$/i;
const CLOSE = /(?:^|[\s,])close(?:[\s,]|$)/i;

const BAD_HOST = 'Host: send exactly one, holding a host name and at most a port.';
const BAD_LENGTH = 'Content-Length: send it at most once, in digits only.';
const BAD_CODING = 'Transfer-Encoding: only chunked is understood, once, and never beside Content-Length.';
const NO_LENGTH = 'Content-Length: a POST needs it (0 for an empty body), or Transfer-Encoding: chunked.';

/**
 * Looks at one request at a time and is used again for the next: both libraries hand out a head's fields in one go.
 * Call `reset`, `see` for each field, then `judge`; the properties hold until the next `reset`.
 */
export class FramingGuard {
  /** Announced body length; 0 when there is none or it is chunked. */
  bodyBytes = 0;
  chunked = false;
  /** The caller, or the framing itself, asks for the connection to end with the answer. */
  closes = false;
  /** Value of the first `Connection` field. */
  connection = '';
  #host = '';
  /** The last valid `Host`: most requests have the same, and comparing costs less than the pattern. */
  #rightHost = '';
  #hosts = 0;
  #length = '';
  #lengths = 0;
  #coding = '';
  #codings = 0;

  reset(): void {
    this.bodyBytes = 0;
    this.chunked = false;
    this.closes = false;
    this.connection = '';
    this.#hosts = 0;
    this.#lengths = 0;
    this.#codings = 0;
  }

  /** `name` in lower case. Its length is compared first: most fields are none of these. */
  see(name: string, value: string): void {
    switch (name.length) {
      case 4:
        if (name === 'host') {
          this.#hosts++;
          this.#host = value;
        }
        break;
      case 10:
        if (name === 'connection') {
          if (this.connection === '') this.connection = value;
          if (CLOSE.test(value)) this.closes = true;
        }
        break;
      case 14:
        if (name === 'content-length') {
          this.#lengths++;
          this.#length = value;
        }
        break;
      case 17:
        if (name === 'transfer-encoding') {
          this.#codings++;
          this.#coding = value;
        }
        break;
      default:
    }
  }

  /** What is wrong with the framing, as a problem's detail; `undefined` when the request may be handled. */
  judge(method: string, http10 = false): string | undefined {
    if (this.#hosts === 0 ? !http10 : this.#hosts > 1 || !this.#isHostRight()) return BAD_HOST;
    if (this.#codings > 0) return this.#judgeCoding(http10);
    if (this.#lengths === 0) return this.#judgeUnsized(method);
    if (this.#lengths > 1 || !LENGTH.test(this.#length)) return BAD_LENGTH;
    this.bodyBytes = Number(this.#length);
    return undefined;
  }

  #isHostRight(): boolean {
    if (this.#host === this.#rightHost && this.#host !== '') return true;
    if (!HOST.test(this.#host)) return false;
    this.#rightHost = this.#host;
    return true;
  }

  #judgeCoding(http10: boolean): string | undefined {
    if (http10 || this.#codings > 1 || this.#lengths > 0 || !CHUNKED.test(this.#coding)) return BAD_CODING;
    this.chunked = true;
    // uWS is lenient about chunk syntax: what follows such a body cannot be trusted to be a request.
    this.closes = true;
    return undefined;
  }

  #judgeUnsized(method: string): string | undefined {
    // uWS stops reading fields at an empty field name, so a length may be hidden: its body must not be taken for a request.
    if (method === 'POST') return NO_LENGTH;
    if (method === 'PUT' || method === 'PATCH') this.closes = true;
    return undefined;
  }
}
