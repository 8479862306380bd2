import Testing
import Shop
@Test func sums() { #expect(total([1, 2]) == 3) }
