sherd --help
sherd checkpoint --help
