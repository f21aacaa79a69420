sherd verify --json step-1
