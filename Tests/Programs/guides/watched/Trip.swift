@inline(never) public func plan(_ name: String) -> Int { rest(name) + 1 }
@inline(never) public func rest(_ name: String) -> Int { name.utf8.count }
