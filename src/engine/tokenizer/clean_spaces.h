// Old vocabularies were made of text whose punctuation stood apart; decoding takes those spaces
// away. Here it is, because decoded text is expected to be what it has always been.
#pragma once

#include <string>

namespace weft::tokenizer {

// " ?" " !" " ." " ," lose the space; " ' " loses both; " 's" " 'm" " 're" " 've" lose it. As
// llama.cpp does, pass by pass.
void clean_spaces(std::string& text);

}  // namespace weft::tokenizer
