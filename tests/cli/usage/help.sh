sherd --help
sherd checkpoint --help
sherd model --help
