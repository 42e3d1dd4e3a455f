import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { OrderBook } from '../server/orders.ts'

const bookPath = (): string => join(mkdtempSync(join(tmpdir(), 'holdfast-orders-')), 'orders.db')

describe('the order book', () => {
  test('has the three orders of the desk', () => {
    const book = new OrderBook(bookPath())
    expect(['1001', '1002', '1003'].map((id) => book.find(id)?.total)).toEqual([40, 240, 60])
    expect(book.find('9999')).toBeUndefined()
    book.close()
  })

  test('records an effect once for each key, so that one that ran twice can be seen', () => {
    const book = new OrderBook(bookPath())
    const order = { id: '1001', total: 40 }
    book.refund(order, 'key-1')
    book.refund(order, 'key-1')
    expect(book.effects()).toHaveLength(1)
    book.refund(order, 'key-2')
    expect(book.effects()).toHaveLength(2)
    book.close()
  })

  test('keeps effects and states over a restart', () => {
    const path = bookPath()
    const first = new OrderBook(path)
    first.cancel({ id: '1003', total: 60 }, 'key')
    first.close()
    const second = new OrderBook(path)
    expect(second.find('1003')?.status).toBe('cancelled')
    expect(second.effects()).toMatchObject([{ kind: 'cancellation', orderId: '1003' }])
    second.close()
  })
})
