#pragma once

#include "NSDefines.hpp"
#include "NSNotification.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

class Array;
class Dictionary;
class Error;
class String;
class URL;

/// A folder with a program's resources. The main bundle is the folder of the running executable.
class _NS_EXPORT Bundle : public Referencing<Bundle> {
 public:
  static Bundle* mainBundle();

  /// Null when there is no such folder.
  static Bundle* bundle(const String* pPath);
  static Bundle* bundle(const URL* pURL);

  /// The main bundle alone.
  static Array* allBundles();
  /// Always empty.
  static Array* allFrameworks();

  static Bundle* alloc();
  Bundle* init(const String* pPath);
  Bundle* init(const URL* pURL);

  bool load();
  bool unload();
  bool isLoaded() const;
  bool preflightAndReturnError(Error** pError) const;
  bool loadAndReturnError(Error** pError);

  URL* bundleURL() const;
  URL* resourceURL() const;
  URL* executableURL() const;
  URL* URLForAuxiliaryExecutable(const String* pExecutableName) const;

  String* bundlePath() const;
  String* resourcePath() const;
  String* executablePath() const;
  String* pathForAuxiliaryExecutable(const String* pExecutableName) const;

  /// Null: a plain folder has no identifier.
  String* bundleIdentifier() const;
  Dictionary* infoDictionary() const;
  Object* objectForInfoDictionaryKey(const String* pKey);

  /// The value, or else the key: there are no tables of translations.
  String* localizedString(const String* pKey,
                          const String* pValue = nullptr,
                          const String* pTableName = nullptr) const;
};

}  // namespace NS
