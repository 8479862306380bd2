/// The kinds of nodes in the tree of a mangled name.
///
/// The cases stand in groups, so that membership in a group is a comparison:
/// contexts, function attributes, requirements, declaration names, all others.
enum NodeKind: UInt16 {
  // Contexts: other entities may be declared inside.
  case allocator, anonymousContext, autoDiffFunction, accessorAttachedMacroExpansion, bodyAttachedMacroExpansion,
    conformanceAttachedMacroExpansion, extensionAttachedMacroExpansion, freestandingMacroExpansion,
    macroExpansionUniqueName, memberAttachedMacroExpansion, memberAttributeAttachedMacroExpansion,
    peerAttachedMacroExpansion, preambleAttachedMacroExpansion, `class`, constructor, deallocator,
    isolatedDeallocator, defaultArgumentInitializer, destructor, didSet, `enum`, explicitClosure, `extension`,
    function, getter, globalGetter, iVarInitializer, iVarDestroyer, implicitClosure, initializer, initAccessor,
    materializeForSet, modifyAccessor, modify2Accessor, module, nativeOwningAddressor, nativeOwningMutableAddressor,
    nativePinningAddressor, nativePinningMutableAddressor, otherNominalType, owningAddressor, owningMutableAddressor,
    propertyWrapperBackingInitializer, propertyWrappedFieldInitAccessor, propertyWrapperInitFromProjectedValue,
    `protocol`, readAccessor, read2Accessor, setter, `static`, structure, `subscript`, typeAlias, unsafeAddressor,
    unsafeMutableAddressor, variable, willSet, opaqueReturnTypeOf, borrowAccessor, mutateAccessor
  // Function attributes: a suffix that turns one function into a variant of it.
  case functionSignatureSpecialization, genericSpecialization, genericSpecializationPrespecialized,
    inlinedGenericFunction, genericSpecializationNotReAbstracted, genericPartialSpecialization,
    genericPartialSpecializationNotReAbstracted, genericSpecializationInResilienceDomain, objCAttribute,
    nonObjCAttribute, dynamicAttribute, directMethodReferenceAttribute, partialApplyForwarder,
    partialApplyObjCForwarder, outlinedVariable, outlinedReadOnlyObject, outlinedBridgedMethod, mergedFunction,
    distributedThunk, distributedAccessor, dynamicallyReplaceableFunctionImpl, dynamicallyReplaceableFunctionKey,
    dynamicallyReplaceableFunctionVar, asyncFunctionPointer, asyncAwaitResumePartialFunction,
    asyncSuspendResumePartialFunction, accessibleFunctionRecord, backDeploymentThunk, backDeploymentFallback,
    hasSymbolQuery, coroFunctionPointer, defaultOverride
  // Generic requirements and markers.
  case dependentGenericConformanceRequirement, dependentGenericSameTypeRequirement,
    dependentGenericSameShapeRequirement, dependentGenericLayoutRequirement,
    dependentGenericInverseConformanceRequirement, dependentGenericParamPackMarker, dependentGenericParamValueMarker
  // Declaration names.
  case identifier, localDeclName, privateDeclName, relatedEntityDeclName, prefixOperator, postfixOperator,
    infixOperator
  // Everything else.
  case anyProtocolConformanceList, argumentTuple, associatedTypeRef, associatedTypeMetadataAccessor,
    defaultAssociatedTypeMetadataAccessor, associatedTypeWitnessTableAccessor, baseWitnessTableAccessor,
    autoClosureType, boundGenericClass, boundGenericEnum, boundGenericStructure, boundGenericProtocol,
    boundGenericOtherNominalType, boundGenericTypeAlias, boundGenericFunction, builtinTypeName, builtinTupleType,
    builtinFixedArray, cFunctionPointer, clangType, classMetadataBaseOffset, concreteProtocolConformance,
    packProtocolConformance, coroutineContinuationPrototype, dependentAssociatedConformance,
    dependentAssociatedTypeRef, dependentGenericParamCount, dependentGenericParamType, dependentGenericSignature,
    dependentGenericType, dependentMemberType, dependentPseudogenericSignature, dependentProtocolConformanceRoot,
    dependentProtocolConformanceInherited, dependentProtocolConformanceAssociated, dependentProtocolConformanceOpaque,
    directness, dynamicSelf, enumCase, errorType, escapingAutoClosureType, noEscapeFunctionType,
    concurrentFunctionType, globalActorFunctionType, differentiableFunctionType, existentialMetatype, fieldOffset,
    fullTypeMetadata, functionSignatureSpecializationParam, functionSignatureSpecializationReturn,
    functionSignatureSpecializationParamKind, functionSignatureSpecializationParamPayload, functionType,
    constrainedExistential, constrainedExistentialRequirementList, constrainedExistentialSelf,
    genericProtocolWitnessTable, genericProtocolWitnessTableInstantiationFunction, resilientProtocolWitnessTable,
    genericSpecializationParam, genericTypeMetadataPattern, global, index, implEscaping, implConvention,
    implDifferentiabilityKind, implErasedIsolation, implSendingResult, implParameterResultDifferentiability,
    implParameterSending, implParameterIsolated, implParameterImplicitLeading, implFunctionAttribute,
    implFunctionConvention, implFunctionConventionName, implFunctionType, implCoroutineKind,
    implInvocationSubstitutions, implParameter, implPatternSubstitutions, implResult, implYield, implErrorResult,
    inOut, isolated, sending, isolatedAnyFunctionType, nonIsolatedCallerFunctionType, sendingResultFunctionType,
    keyPathGetterThunkHelper, keyPathSetterThunkHelper, keyPathUnappliedMethodThunkHelper,
    keyPathAppliedMethodThunkHelper, keyPathEqualsThunkHelper, keyPathHashThunkHelper,
    lazyProtocolWitnessTableAccessor, lazyProtocolWitnessTableCacheVariable, macro, macroExpansionLoc, metatype,
    metatypeRepresentation, metaclass, methodLookupFunction, objCMetadataUpdateFunction, objCResilientClassStub,
    fullObjCResilientClassStub, nominalTypeDescriptor, nominalTypeDescriptorRecord, number,
    objCAsyncCompletionHandlerImpl, checkedObjCAsyncCompletionHandlerImpl, objCBlock, escapingObjCBlock,
    propertyDescriptor, protocolConformance, protocolConformanceRefInTypeModule,
    protocolConformanceRefInProtocolModule, protocolConformanceRefInOtherModule, protocolDescriptor,
    protocolDescriptorRecord, protocolConformanceDescriptor, protocolConformanceDescriptorRecord, protocolList,
    protocolListWithClass, protocolListWithAnyObject, protocolSelfConformanceDescriptor,
    protocolSelfConformanceWitness, protocolSelfConformanceWitnessTable, protocolWitness, protocolWitnessTable,
    protocolWitnessTableAccessor, protocolWitnessTablePattern, reabstractionThunk, reabstractionThunkHelper,
    reabstractionThunkHelperWithSelf, reabstractionThunkHelperWithGlobalActor, retroactiveConformance, returnType,
    shared, owned, silBoxType, silBoxTypeWithLayout, silBoxLayout, silBoxMutableField, silBoxImmutableField,
    specializationPassID, isSerialized, suffix, thinFunctionType, tuple, tupleElement, tupleElementName, pack,
    silPackDirect, silPackIndirect, packExpansion, packElement, packElementLevel, type, typeList, typeMangling,
    typeMetadata, typeMetadataAccessFunction, typeMetadataCompletionFunction, typeMetadataInstantiationCache,
    typeMetadataInstantiationFunction, typeMetadataSingletonInitializationCache, typeMetadataDemanglingCache,
    typeMetadataLazyCache, uncurriedFunctionType, unknownIndex, weak, unowned, unmanaged, valueWitness,
    valueWitnessTable, vTableThunk, reflectionMetadataBuiltinDescriptor, reflectionMetadataFieldDescriptor,
    reflectionMetadataAssocTypeDescriptor, reflectionMetadataSuperclassDescriptor, genericTypeParamDecl, curryThunk,
    silThunkIdentity, dispatchThunk, methodDescriptor, protocolRequirementsBaseDescriptor,
    associatedConformanceDescriptor, defaultAssociatedConformanceAccessor, baseConformanceDescriptor,
    associatedTypeDescriptor, asyncAnnotation, throwsAnnotation, typedThrowsAnnotation, emptyList, firstElementMarker,
    variadicMarker, outlinedCopy, outlinedConsume, outlinedRetain, outlinedRelease, outlinedInitializeWithTake,
    outlinedInitializeWithCopy, outlinedAssignWithTake, outlinedAssignWithCopy, outlinedDestroy, assocTypePath,
    labelList, moduleDescriptor, extensionDescriptor, anonymousDescriptor, associatedTypeGenericParamRef,
    sugaredOptional, sugaredArray, sugaredDictionary, sugaredInlineArray, sugaredParen, opaqueType,
    opaqueTypeDescriptor, opaqueTypeDescriptorRecord, opaqueTypeDescriptorAccessor, opaqueTypeDescriptorAccessorImpl,
    opaqueTypeDescriptorAccessorKey, opaqueTypeDescriptorAccessorVar, opaqueReturnType,
    canonicalSpecializedGenericMetaclass, canonicalSpecializedGenericTypeMetadataAccessFunction,
    metadataInstantiationCache, noncanonicalSpecializedGenericTypeMetadata,
    noncanonicalSpecializedGenericTypeMetadataCache, globalVariableOnceFunction, globalVariableOnceToken,
    globalVariableOnceDeclList, canonicalPrespecializedGenericTypeCachingOnceToken, autoDiffFunctionKind,
    autoDiffSelfReorderingReabstractionThunk, autoDiffSubsetParametersThunk, autoDiffDerivativeVTableThunk,
    differentiabilityWitness, noDerivative, indexSubset, compileTimeLiteral, extendedExistentialTypeShape, uniquable,
    droppedArgument, metatypeParamsRemoved, opaqueReturnTypeIndex, opaqueReturnTypeParent, outlinedEnumTagStore,
    outlinedEnumProjectDataForLoad, outlinedEnumGetTag, asyncRemoved, representationChanged,
    outlinedInitializeWithTakeNoValueWitness, outlinedInitializeWithCopyNoValueWitness,
    outlinedAssignWithTakeNoValueWitness, outlinedAssignWithCopyNoValueWitness, outlinedDestroyNoValueWitness,
    integer, negativeInteger, constValue

  var isContext: Bool { rawValue <= NodeKind.mutateAccessor.rawValue }
  var isFunctionAttribute: Bool {
    rawValue > NodeKind.mutateAccessor.rawValue && rawValue <= NodeKind.defaultOverride.rawValue
  }
  var isRequirement: Bool {
    rawValue > NodeKind.defaultOverride.rawValue && rawValue <= NodeKind.dependentGenericParamValueMarker.rawValue
  }
  var isDeclarationName: Bool {
    rawValue > NodeKind.dependentGenericParamValueMarker.rawValue && rawValue <= NodeKind.infixOperator.rawValue
  }
  /// Some kinds that are no entities (types) pass as one.
  var isEntity: Bool { self == .type || isContext }
  var isAnyGeneric: Bool {
    switch self {
    case .structure, .class, .enum, .protocol, .otherNominalType, .typeAlias: true
    default: false
    }
  }
  var isMacroExpansion: Bool {
    switch self {
    case .accessorAttachedMacroExpansion, .bodyAttachedMacroExpansion, .conformanceAttachedMacroExpansion,
      .extensionAttachedMacroExpansion, .freestandingMacroExpansion, .macroExpansionUniqueName,
      .memberAttachedMacroExpansion, .memberAttributeAttachedMacroExpansion, .peerAttachedMacroExpansion,
      .preambleAttachedMacroExpansion, .macroExpansionLoc:
      true
    default: false
    }
  }

  /// The name the toolchain's own tree dump uses, for example `BoundGenericClass`.
  var dumpName: String { NodeKind.dumpNames[Int(rawValue)] }

  private static let dumpNames: [String] = {
    var names: [String] = []
    while let kind = NodeKind(rawValue: UInt16(names.count)) {
      let name = "\(kind)"
      names.append(
        name.hasPrefix("sil") ? "SIL" + name.dropFirst(3) : name.prefix(1).uppercased() + name.dropFirst())
    }
    return names
  }()
}
