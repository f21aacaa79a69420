sherd --help
sherd checkpoint --help
sherd rows --help
sherd model --help
