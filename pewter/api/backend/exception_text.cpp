#include "pewter/api/backend/exception_text.h"

namespace pewter::backend {

std::string exception_text(const std::exception_ptr& exception) {
  if (!exception) {
    return "nothing";
  }
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& caught) {
    return caught.what();
  } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace pewter::backend
