// Exports — what a program gets with `import ScriptHost`: hooks and messages in Swift.
@_exported public import HookRuntime
