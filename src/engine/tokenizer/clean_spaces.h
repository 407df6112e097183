// Removes spaces before punctuation from decoded text. Old vocabularies were made from text with
// such spaces, and decoders have always removed them, so users expect it.
#pragma once

#include <string>

namespace weft::tokenizer {

// Removes the space in " ?" " !" " ." " ,", both spaces in " ' ", and the space in " 's" " 'm" "
// 're" " 've", in several passes as llama.cpp does.
void clean_spaces(std::string& text);

}  // namespace weft::tokenizer
