@MainActor let modelCases: [(String, () throws -> Void)] = []
