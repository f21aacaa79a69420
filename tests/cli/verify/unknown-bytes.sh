echo nothing that is known > file
sherd verify file
