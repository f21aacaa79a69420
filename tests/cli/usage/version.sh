sherd --version | grep -v ' s3' # which not every build has
