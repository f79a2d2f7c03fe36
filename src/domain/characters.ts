// Counting characters: Unicode code points, by one function for limit, charge and error alike.

/** Code points of a well-formed string. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // A high surrogate is always followed by its low half in a well-formed string.
    if (unit >= 0xd800 && unit <= 0xdbff) count--;
  }
  return count;
}
