#pragma once

#include <Foundation/Foundation.hpp>
#include <functional>

#include "MTLArgument.hpp"
#include "MTLDefines.hpp"
#include "MTLFunctionDescriptor.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class ArgumentEncoder;
class Device;
class Function;
class FunctionConstantValues;

_MTL_ENUM(NS::UInteger, PatchType){
    PatchTypeNone = 0,
    PatchTypeTriangle = 1,
    PatchTypeQuad = 2,
};

_MTL_ENUM(NS::UInteger, FunctionType){
    FunctionTypeVertex = 1,  FunctionTypeFragment = 2,     FunctionTypeKernel = 3,
    FunctionTypeVisible = 5, FunctionTypeIntersection = 6, FunctionTypeMesh = 7,
    FunctionTypeObject = 8,
};

_MTL_ENUM(NS::UInteger, LanguageVersion){
    LanguageVersion1_0 = 65536,  LanguageVersion1_1 = 65537,  LanguageVersion1_2 = 65538,
    LanguageVersion2_0 = 131072, LanguageVersion2_1 = 131073, LanguageVersion2_2 = 131074,
    LanguageVersion2_3 = 131075, LanguageVersion2_4 = 131076, LanguageVersion3_0 = 196608,
    LanguageVersion3_1 = 196609, LanguageVersion3_2 = 196610, LanguageVersion4_0 = 262144,
};

_MTL_ENUM(NS::Integer, LibraryType){
    LibraryTypeExecutable = 0,
    LibraryTypeDynamic = 1,
};

_MTL_ENUM(NS::Integer, LibraryOptimizationLevel){
    LibraryOptimizationLevelDefault = 0,
    LibraryOptimizationLevelSize = 1,
};

_MTL_ENUM(NS::Integer, CompileSymbolVisibility){
    CompileSymbolVisibilityDefault = 0,
    CompileSymbolVisibilityHidden = 1,
};

_MTL_ENUM(NS::Integer, MathMode){
    MathModeSafe = 0,
    MathModeRelaxed = 1,
    MathModeFast = 2,
};

_MTL_ENUM(NS::Integer, MathFloatingPointFunctions){
    MathFloatingPointFunctionsFast = 0,
    MathFloatingPointFunctionsPrecise = 1,
};

_MTL_ENUM(NS::UInteger, LibraryError){
    LibraryErrorUnsupported = 1,      LibraryErrorInternal = 2,
    LibraryErrorCompileFailure = 3,   LibraryErrorCompileWarning = 4,
    LibraryErrorFunctionNotFound = 5, LibraryErrorFileNotFound = 6,
};

_MTL_CONST(NS::ErrorDomain, LibraryErrorDomain);

using AutoreleasedArgument = Argument*;
using FunctionCompletionHandlerFunction =
    std::function<void(Function* pFunction, NS::Error* pError)>;

/// A `[[function_constant(n)]]` that a function mentions.
class _MTL_EXPORT FunctionConstant : public NS::Referencing<FunctionConstant> {
 public:
  static FunctionConstant* alloc();
  FunctionConstant* init();

  NS::String* name() const;
  MTL::DataType type() const;
  NS::UInteger index() const;
  bool required() const;
};

/// One kernel of a library, with values for its function constants.
class _MTL_EXPORT Function : public NS::Referencing<Function> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);

  Device* device() const;
  MTL::FunctionType functionType() const;
  MTL::FunctionOptions options() const;

  MTL::PatchType patchType() const;
  NS::Integer patchControlPointCount() const;
  NS::Array* vertexAttributes() const;
  NS::Array* stageInputAttributes() const;

  NS::String* name() const;
  /// FunctionConstant by name.
  NS::Dictionary* functionConstantsDictionary() const;

  ArgumentEncoder* newArgumentEncoder(NS::UInteger bufferIndex);
  ArgumentEncoder* newArgumentEncoder(NS::UInteger bufferIndex,
                                      const AutoreleasedArgument* reflection);
};

/// How to read a source text.
class _MTL_EXPORT CompileOptions : public NS::Copying<CompileOptions> {
 public:
  static CompileOptions* alloc();
  CompileOptions* init();

  /// NS::String to NS::String or NS::Number.
  NS::Dictionary* preprocessorMacros() const;
  void setPreprocessorMacros(const NS::Dictionary* preprocessorMacros);

  /// The older form of the math mode: true is Fast, false is Safe.
  bool fastMathEnabled() const;
  void setFastMathEnabled(bool fastMathEnabled);

  MTL::MathMode mathMode() const;
  void setMathMode(MTL::MathMode mathMode);

  MTL::MathFloatingPointFunctions mathFloatingPointFunctions() const;
  void setMathFloatingPointFunctions(MTL::MathFloatingPointFunctions mathFloatingPointFunctions);

  MTL::LanguageVersion languageVersion() const;
  void setLanguageVersion(MTL::LanguageVersion languageVersion);

  MTL::LibraryType libraryType() const;
  void setLibraryType(MTL::LibraryType libraryType);

  NS::String* installName() const;
  void setInstallName(const NS::String* installName);

  NS::Array* libraries() const;
  void setLibraries(const NS::Array* libraries);

  bool preserveInvariance() const;
  void setPreserveInvariance(bool preserveInvariance);

  MTL::LibraryOptimizationLevel optimizationLevel() const;
  void setOptimizationLevel(MTL::LibraryOptimizationLevel optimizationLevel);

  MTL::CompileSymbolVisibility compileSymbolVisibility() const;
  void setCompileSymbolVisibility(MTL::CompileSymbolVisibility compileSymbolVisibility);

  bool allowReferencingUndefinedSymbols() const;
  void setAllowReferencingUndefinedSymbols(bool allowReferencingUndefinedSymbols);

  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  void setMaxTotalThreadsPerThreadgroup(NS::UInteger maxTotalThreadsPerThreadgroup);

  bool enableLogging() const;
  void setEnableLogging(bool enableLogging);
};

/// A compiled source text: kernels by name.
class _MTL_EXPORT Library : public NS::Referencing<Library> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);

  Device* device() const;

  /// Null when there is no such function.
  Function* newFunction(const NS::String* functionName);
  Function* newFunction(const NS::String* name,
                        const FunctionConstantValues* constantValues,
                        NS::Error** error);
  Function* newFunction(const FunctionDescriptor* descriptor, NS::Error** error);

  void newFunction(const NS::String* pFunctionName,
                   const FunctionConstantValues* pConstantValues,
                   const FunctionCompletionHandlerFunction& completionHandler);
  void newFunction(const FunctionDescriptor* pDescriptor,
                   const FunctionCompletionHandlerFunction& completionHandler);

  NS::Array* functionNames() const;
  MTL::LibraryType type() const;
  NS::String* installName() const;
};

}  // namespace MTL
