sherd --version | grep -vE ' s3| https?$' # which not every build has
