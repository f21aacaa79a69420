sherd verify step-1
