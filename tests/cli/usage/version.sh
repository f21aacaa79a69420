sherd --version
