/**
 * Sets an own property, whatever its name.
 *
 * `__proto__` becomes a property like any other: assigning it would change what the object
 * inherits instead.
 */
export function ownProperty<Value>(object: Record<string, Value>, key: string, value: Value): void {
  if (key !== '__proto__') {
    object[key] = value
    return
  }
  Object.defineProperty(object, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  })
}
