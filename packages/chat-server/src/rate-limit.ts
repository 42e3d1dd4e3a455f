// How many requests each session may make.
//
// Owns:  a bucket of tokens for each session that asked lately.
// Asks:  the clock.
// Never: waits, or keeps a bucket that is full again.
//
// L1. A session's burst is at most one second's worth; a clock that goes back takes nothing away.
import { ErrorCode, HoldfastError, type Clock } from '@holdfast/core'

/** Counts requests by session. */
export interface RateLimit {
  /** @throws `rate_limited` */
  take(sessionId: string): void
}

interface Bucket {
  tokens: number
  at: number
}

const bucketsBeforeSweep = 1_024

/** Creates a limit of `perSecond` requests a session. */
export function createRateLimit(perSecond: number, clock: Clock): RateLimit {
  const buckets = new Map<string, Bucket>()
  let sweepAt = bucketsBeforeSweep

  function refill(bucket: Bucket, now: number): void {
    const passed = Math.max(0, now - bucket.at)
    bucket.tokens = Math.min(perSecond, bucket.tokens + (passed * perSecond) / 1_000)
    bucket.at = now
  }

  function sweep(now: number): void {
    for (const [sessionId, bucket] of buckets) {
      refill(bucket, now)
      if (bucket.tokens >= perSecond) buckets.delete(sessionId)
    }
    sweepAt = Math.max(bucketsBeforeSweep, buckets.size * 2)
  }

  return {
    take(sessionId) {
      const now = clock.now()
      if (buckets.size >= sweepAt) sweep(now)
      const bucket = buckets.get(sessionId) ?? { tokens: perSecond, at: now }
      buckets.set(sessionId, bucket)
      refill(bucket, now)
      if (bucket.tokens < 1) {
        throw new HoldfastError(ErrorCode.rateLimited, {
          message: `Too many requests: ${perSecond} a second are allowed.`,
        })
      }
      bucket.tokens -= 1
    },
  }
}
