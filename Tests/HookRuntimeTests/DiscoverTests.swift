import Testing
@testable import HookRuntime
